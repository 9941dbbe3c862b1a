"""The signal equations against magnetisation that is followed step by step."""

import pytest

from polymodal.data.drawn.phantoms.signals import inversion, shortened, signal_table, spin_echo
from polymodal.data.drawn.phantoms.tissues import CSF, ENHANCING, GREY, OEDEMA, WHITE


def followed(start: float, rest: float, time: float, relaxation: float) -> float:
    """dM/dt = (rest − M) / T from a start, by the classical method of Runge and Kutta."""
    value, steps = start, 4000
    h = time / steps
    for _ in range(steps):
        k1 = (rest - value) / relaxation
        k2 = (rest - value - h * k1 / 2) / relaxation
        k3 = (rest - value - h * k2 / 2) / relaxation
        k4 = (rest - value - h * k3) / relaxation
        value += h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
    return value


@pytest.mark.parametrize(("t1", "t2"), [(560.0, 76.0), (1040.0, 104.0), (4200.0, 1900.0)])
def test_echoes_are_what_the_magnetisation_comes_to(t1, t2):
    density, tr, te, ti = 0.8, 520.0, 11.0, 2450.0
    along = followed(0.0, density, tr, t1)
    assert spin_echo(t1, t2, density, tr, te) == pytest.approx(followed(along, 0, te, t2), rel=1e-6)
    tr, te = 9000.0, 115.0
    recovered = followed(0.0, density, tr - ti, t1)  # since the last echo, which left nothing along
    turned = followed(-recovered, density, ti, t1)
    found = inversion(t1, t2, density, tr, te, ti)
    assert found == pytest.approx(abs(followed(turned, 0, te, t2)), rel=1e-6)


def test_contrast_agent_shortens_relaxation():
    assert shortened(1000.0, 4.5, 0.0) == pytest.approx(1000)
    assert 1000 / shortened(1000.0, 4.5, 0.6) == pytest.approx(1 + 4.5 * 0.6)


@pytest.mark.parametrize("patient", range(5))
def test_tissues_stand_in_the_order_of_real_scans(patient):
    t1, t1c, t2, flair = signal_table(0, patient).T
    assert t1[WHITE] > t1[GREY] > t1[CSF] and t2[CSF] > t2[OEDEMA] > t2[GREY] > t2[WHITE]
    assert flair[OEDEMA] > flair[GREY] > flair[WHITE] > flair[CSF]
    assert t1c[ENHANCING] > 1.5 * t1c[WHITE] and t1[ENHANCING] < t1[WHITE]
