"""`python -m polymodal` is `polymodal`."""

import sys

from polymodal.cli import main

sys.exit(main())
