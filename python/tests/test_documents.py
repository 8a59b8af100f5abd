"""The pages' code and the example scripts run, and give what they say."""

import importlib.util
import os
import re

import pytest
from conftest import ROOT


def _blocks(page):
    """The blocks of Python in a page, each with the remarks above it. crates/cli/tests/cli/guide has all others."""
    text = (ROOT / "docs" / page).read_text()
    found = re.findall(r"^((?:<!-- [^\n]* -->\n)*)```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(dict(re.findall(r"<!-- (.*?)(?:: (.*?))? -->", remarks)), code) for remarks, code in found]


def _run(page, folder):
    """Runs the blocks of a page one after the other; what they have made, and how many were run."""
    known, run = {"__name__": "page"}, 0
    for number, (remarks, block) in enumerate(_blocks(page)):
        # Through a file, so that functions have a source.
        file = folder / f"block{number}.py"
        file.write_text(block)
        code = compile(block, str(file), "exec")
        missing = "needs" in remarks and importlib.util.find_spec(remarks["needs"]) is None
        # What goes into a file is run by the command that the page shows next.
        if "not run" in remarks or "file" in remarks or missing:
            continue
        exec(code, known)
        run += 1
    return known, run


PAGES = sorted(page.name for page in (ROOT / "docs").glob("*.md") if _blocks(page.name))


def test_the_pages_with_python_are_known():
    expected = ["clusters.md", "failures.md", "python.md", "runs.md", "start-python.md", "start-table.md"]
    assert expected == PAGES


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if page != "python.md"])
def test_a_page(page, tmp_path, monkeypatch, record_property):
    monkeypatch.chdir(tmp_path)
    known, run = _run(page, tmp_path)
    record_property("blocks run", run)
    if page == "start-python.md":
        influence = known["run"].influence
        assert min(influence, key=influence.get) == "first"


def test_the_page_on_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known, _ = _run("python.md", tmp_path)
    assert 1 < known["run"].summary()["parameters"]["rate"]["median"] < 4
    assert known["paths"].shape == (1000, 14)
    assert os.path.exists("runs/waits/posterior.parquet")
    assert "cover" in known["verdict"]


def _example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples/python" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_pyabc_model_moves_over():
    run = _example("from_pyabc").main()
    # 31 jumps in 20 units of time, of mean size 205 / 31.
    assert run.summary()["parameters"]["rate"]["mean"] == pytest.approx(31 / 20, abs=0.25)
    assert run.summary()["parameters"]["size"]["mean"] == pytest.approx(205 / 31, abs=1.2)


def test_a_table_of_sbi():
    posterior = _example("from_sbi").main().summary()["parameters"]
    # Normal errors of sd 0.3 and a flat prior.
    assert posterior["theta1"]["mean"] == pytest.approx(0.8, abs=0.1)
    assert posterior["theta2"]["mean"] == pytest.approx(-1.1, abs=0.1)
    assert 0.25 < posterior["theta1"]["sd"] < 0.5


def test_arviz_summarises_and_plots(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("arviz")
    picture = tmp_path / "p.png"
    data = _example("with_arviz").main(picture)
    assert float(data["posterior"]["mu"].mean()) == pytest.approx(1.2, abs=0.15)
    assert picture.stat().st_size > 5000


def test_scipy_alone():
    pytest.importorskip("scipy")
    posterior = _example("scipy_only").main().summary()["parameters"]
    for name in ("a", "b"):
        assert posterior[name]["q05"] < 1.0 < posterior[name]["q95"] and posterior[name]["sd"] < 0.5
