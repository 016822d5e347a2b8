"""Fixes of kernels in host files: each is an edit of the host's text, after which it holds just the edited program."""

from __future__ import annotations

import pytest

from model.advice.advice import AdviceCode
from model.device_catalog import find_builtin
from model.embedded.find import find_programs
from model.embedded.languages import Language
from model.engine import Engine
from model.forecast import Home
from server.analysis.fix_gains import FileContext, FixPredictor, PredictedFix
from server.analysis.fix_search import in_host

GPU = find_builtin("nvidia-a100-pcie-40gb")
ROWS = """// kernelcast: global=(1024, 2) local=(64, 1) a=1024*1024 x=1024 y=4096 n=1024
__kernel void rows(__global const float *a, __global const float *x, __global float *y, int n)
{
    int i = get_global_id(0); // größer
    for (int k = 0; k < n; ++k)
        y[i] += a[i * n + k] * exp(x[k]) * get_global_id(1);
}
"""
QUOTED = "\n".join(f'    "{line}\\n"' for line in ROWS.splitlines())
HOSTS = {
    "multi-line": (f'import x\nSOURCE = """\n{ROWS}"""\nprint(1)\n', Language.PYTHON),
    "indented": (f'def f():\n    return """{ROWS}"""\n', Language.PYTHON),
    "CRLF": (f'SOURCE = r"""\n{ROWS}"""\n'.replace("\n", "\r\n"), Language.PYTHON),
    "f-string": ('S = f"""\n' + ROWS.replace("{", "{{").replace("}", "}}") + '"""\n', Language.PYTHON),
    "lines of Python": (f"SOURCE = (\n{QUOTED}\n)\n", Language.PYTHON),
    "lines of C": (f"const char *source =\n{QUOTED};\n", Language.CPP),
    "raw C++": (f'auto source = R"cl(\n{ROWS})cl";\n', Language.CPP),
    "one line": ("const char *s = " + '"' + ROWS.replace("\n", "\\n") + '";\n', Language.CPP),
}


def embedded(host: str, language: Language) -> list[PredictedFix]:
    """All fixes of the host's only kernel."""
    assert GPU is not None
    (program,) = find_programs(host, language)
    (forecast,) = Engine().forecast(program.text, None, GPU).forecasts
    assert forecast.launch is not None, forecast.problem
    home = Home(program.text, forecast.kernel, tuple(range(100)), "")
    found = FixPredictor().all_fixes(FileContext(program.text, None, GPU), "rows", forecast.launch)
    return list(in_host(found, home, program, host, language))


@pytest.mark.parametrize("kind", HOSTS)
def test_fixes_are_written_where_the_literal_has_the_text(kind: str) -> None:
    host, language = HOSTS[kind]
    found = embedded(host, language)
    assert {AdviceCode.POSSIBLE_ALIASING, AdviceCode.PRECISE_FUNCTION, AdviceCode.UNCOALESCED_ACCESS} <= {
        each.fix.code for each in found
    }
    for each in found:
        (program,) = find_programs(each.text, language)
        assert program.text == each.sources[1]
        assert each.text.startswith(host[:5])
        assert len(each.text.splitlines()) - len(host.splitlines()) in (0, 1, 2, 4)


def test_a_new_line_gets_a_literal_of_its_own() -> None:
    unrolled = [each.text for each in embedded(*HOSTS["lines of C"]) if each.fix.code is AdviceCode.ROLLED_LOOP]
    assert any('    "    #pragma unroll 4\\n"\n    "    for (int k' in text for text in unrolled)


def test_what_a_literal_cannot_hold_is_not_offered() -> None:
    names = {each.fix.code for each in embedded(*HOSTS["one line"])}
    assert AdviceCode.POSSIBLE_ALIASING in names
    assert AdviceCode.SMALL_WORK_ITEM not in names


def test_text_that_the_host_writes_with_escapes_is_left_alone() -> None:
    host, language = HOSTS["lines of C"]
    found = embedded(host.replace("exp(x", "e\\170p(x"), language)
    assert AdviceCode.POSSIBLE_ALIASING in {each.fix.code for each in found}
