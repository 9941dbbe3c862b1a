"""Reproduce a table of the papers: every recipe × seeds, next to the paper's figures."""

HELP = """\
Reproduce a table or figure of the papers; repeat the command to resume.

usage: polymodal reproduce STUDY [--data DATA] [--rows PATTERN ...] [--missing] [--seeds SEED ...]
                                 [--processes N] [--scale NAME] [--quick] [--small] [--help] ...

studies
{studies}
--rows 'basic/FC*' runs only some rows, --missing those that the result file lacks. --seeds 0 uses
one seed, --processes 12 trains twelve rows in parallel. A study has its rows at several scales: --quick
(or --scale quick) tests it in minutes. `polymodal reproduce STUDY --help` lists them and every option."""


def main(arguments: list[str]) -> None:
    import tyro

    from polymodal.base.files import check_file, check_folder
    from polymodal.base.printing import tell
    from polymodal.cli import listing
    from polymodal.studies.reproduction import reproduce
    from polymodal.studies.reproduction.options import Options
    from polymodal.studies.study import study_named, study_names

    if not arguments or arguments[0] in ("-h", "--help"):
        tell(HELP.format(studies=listing({s: study_named(s).about for s in study_names()})))
        return
    study = study_named(arguments[0])
    options = tyro.cli(
        Options,
        args=arguments[1:],
        prog=f"polymodal reproduce {arguments[0]}",
        description=f"{study.about}\n\nscales: {', '.join(study.scales)}",
    )
    check_folder(options.folder)
    if options.out:
        check_file(options.out)
    reproduce(arguments[0], options)
