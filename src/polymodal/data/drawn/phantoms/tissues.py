"""What a head is made of: T1, T2 and proton density of each tissue, at 1.5 tesla."""

import numpy as np

AIR, SKIN, FAT, MUSCLE, BONE, MARROW, DURA = 0, 1, 2, 3, 4, 5, 6
CSF, GREY, WHITE, DEEP, VESSEL, PLEXUS = 7, 8, 9, 10, 11, 12
NECROSIS, OEDEMA, ENHANCING = 13, 14, 15
COUNT = 16

PROPERTIES = np.array(
    # T1 ms, T2 ms, proton density, contrast agent mmol/l
    [
        (1000.0, 50.0, 0.00, 0.00),  # air
        (700.0, 40.0, 0.70, 0.05),  # skin
        (270.0, 105.0, 0.80, 0.00),  # fat
        (900.0, 45.0, 0.75, 0.08),  # muscle
        (500.0, 2.0, 0.10, 0.00),  # bone
        (380.0, 60.0, 0.55, 0.02),  # marrow of the skull
        (900.0, 40.0, 0.45, 0.40),  # dura
        (4200.0, 1900.0, 1.00, 0.00),  # cerebrospinal fluid
        (1040.0, 104.0, 0.83, 0.01),  # grey matter
        (560.0, 76.0, 0.71, 0.01),  # white matter
        (820.0, 84.0, 0.78, 0.01),  # deep grey nuclei
        (1400.0, 22.0, 0.50, 0.90),  # vessels, whose flow leaves little signal
        (1300.0, 130.0, 0.85, 0.55),  # choroid plexus
        (2000.0, 330.0, 0.94, 0.04),  # necrosis
        (1150.0, 165.0, 0.86, 0.02),  # oedema
        (1030.0, 105.0, 0.82, 0.66),  # enhancing tumour
    ]
)

MOST_VARIED = 0.05
"""By how much T1, T2 and density differ from patient to patient, at most."""
