"""Intel's machine code, as iga64 1.1 disassembles what ocloc 22.43 made of kernels of our own."""

from __future__ import annotations

import pytest

from profiler.machine_code.digest import loops_of, mix_of
from profiler.machine_code.intel_isa import read_intel_isa

# Of `tile` for dg2-g10: x to local memory, a barrier, the sine of another work-item's value back to x.
XE_HPG = """\
L0:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud
(W)     send.dc0 (8|M0)  r1  r127  null:0  0x0  0x024844FD  {A@1,$0} // wr:1h+0, rd:4; oword aligned block read x8
(W)     shl (1|M0)               r4.0<1>:d     r3.1<0;1,0>:d     6:w               {Compacted,A@1}
        shl (16|M0)              r14.0<1>:d    r1.0<1;1,0>:uw    2:w
        sync.nop                             null                             {Compacted,$1.dst}
        add3 (16|M0)             r5.0<1>:d     r4.0<0;0>:d       r1.0<1;0>:uw      r7.0<0>:d        {I@2}
        add3 (16|M16)            r8.0<1>:d     r4.0<0;0>:d       r2.0<1;0>:uw      r7.0<0>:d        {$2.dst}
        send.ugm (16|M0)  r10  r5  null:0  0x0  0x64280500  {A@2,$3} // wr:2+0, rd:2; load.ugm.d32.a32.ca.ca.bti[0]
        send.ugm (16|M16)  r12  r8  null:0  0x0  0x64280500  {A@1,$4} // wr:2+0, rd:2; load.ugm.d32.a32.ca.ca.bti[0]
        send.slm (16|M0)  null  r14  r10:2  0x0  0x040E0504  {$3} // wr:2+2, rd:0; store.slm.d32.a32
        send.slm (16|M16)  null  r16  r12:2  0x0  0x040E0504  {A@1,$4} // wr:2+2, rd:0; store.slm.d32.a32
(W)     send.slm (1|M0)  r18  r3  null:0  0x0  0x0210011F  {$5} // wr:1+0, rd:1; fence.slm.none.group
(W)     send.gtwy (1|M0)  null  r19  null:0  0x0  0x02000004  {A@2,$6} // wr:1+0, rd:0; signal barrier
(W)     sync.bar                             null
        send.slm (16|M0)  r24  r20  null:0  0x0  0x04280500  {A@2,$7} // wr:2+0, rd:2; load.slm.d32.a32
        math.sin (16|M0)         r28.0<1>:f    r24.0<1;1,0>:f                   {$7}
        math.sin (16|M16)        r30.0<1>:f    r26.0<1;1,0>:f                   {$8}
        send.ugm (16|M0)  null  r5  r28:2  0x0  0x640E0504  {$7} // wr:2+2, rd:0; store.ugm.d32.a32.wb.wb.bti[0]
(W)     send.gtwy (8|M0)  null  r127  null:0  0x0  0x02000010  {EOT,A@1} // wr:1+0, rd:0; end of thread
L688:
        illegal
        illegal
"""
# The same for skl, whose messages are described otherwise.
GEN9 = """\
L0:
(W)     shl (1|M0)               r4.0<1>:d     r3.1<0;1,0>:d     6:w
        send (16|M0)  r14:w  r10  0xC  0x04205E00  // wr:2+0, rd:2; hdc.dc1; untyped surface read with x
        send (16|M16)  r16:w  r12  0xC  0x04205E00  // wr:2+0, rd:2; hdc.dc1; untyped surface read with x
        sends (16|M0)  null:w  r18  r14  0x8C  0x04025EFE  // wr:2+2, rd:0; hdc.dc1; untyped surface write with x
(W)     send (1|M0)  null  r22  0x3  0x02000004  // wr:1+0, rd:0; gateway; signal barrier
(W)     wait                                 n0.0<0;1,0>:ud
        send (16|M0)  r27:w  r23  0xC  0x04205EFE  // wr:2+0, rd:2; hdc.dc1; untyped surface read with x
        math.sin (16|M0)         r31.0<1>:f    r27.0<8;8,1>:f                   {Compacted}
        sends (16|M0)  null:w  r10  r31  0x8C  0x04025E00  // wr:2+2, rd:0; hdc.dc1; untyped surface write with x
        sends (8|M0)  null:ud  r73  r4  0x4A  0x020F0000  // wr:1h+1, rd:0; hdc.dc0; hword scratch block write x1
        send (8|M0)  r2:f  r9  0xC  0x02406000  // wr:1+0, rd:4; hdc.dc1; untyped surface read with xyzw
(W)     send (8|M0)  null  r127  0x27  0x02000010  {EOT} // wr:1+0, rd:0; spawner; end of thread
"""
LOOP = """\
(W)     cmp (16|M0)   (gt)f1.0   null<1>:d     r8.6<0;1,0>:d     0:w
(f1.0)  goto (32|M0)                         L56                  L96
L56:
        mad (16|M0)  r10.0<1>:f  r8.0<1;0>:f  r64.0<1;0>:f  r6.0<0>:f  {Compacted,$4.dst}
        bfn.(s0&s1|~s0&s2) (16|M0)  r35.0<1>:ud  r51.0<1;0>:ud  r67.0<1;0>:ud  r27.0<1>:ud  {I@7}
        mov (16|M0)              r2.0<1>:f     r30.0<1;1,0>:ud                  {Compacted,A@1}
(W&f0.0) add (1|M0)              r3.0<1>:d     r3.0<0;1,0>:d     1:w
(f1.0)  goto.b (32|M0)                       L96                  L56
L96:
        join (32|M0)                         L112
"""


def counts(text: str) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for each in mix_of(read_intel_isa(text)):
        key = each.kind, each.space or each.element
        found[key] = found.get(key, 0) + each.count
    return found


def test_each_work_item_executes_an_instruction_once_though_two_halves_of_a_thread_take_one_each() -> None:
    found = counts(XE_HPG)
    assert found[("integer", "i32")] == 3
    assert found[("native", "f32")] == 1
    assert {key: n for key, n in found.items() if key[0] in ("load", "store")} == {
        ("load", "global"): 1, ("load", "local"): 1, ("store", "global"): 1, ("store", "local"): 1,
    }  # fmt: skip
    assert found[("barrier", "")] == 1


def test_older_chips_messages_tell_local_memory_by_their_table_entry_and_spills_by_scratch() -> None:
    instructions = read_intel_isa(GEN9)
    accesses = [(each.space, each.stores, each.memory_lanes) for each in instructions if each.loads or each.stores]
    assert accesses == [
        ("global", False, 1), ("local", True, 1), ("local", False, 1), ("global", True, 1), ("private", True, 1),
        ("global", False, 4),
    ]  # fmt: skip
    assert [each.slot is not None for each in instructions if each.space == "private"] == [True]
    assert counts(GEN9)[("barrier", "")] == 1


def test_a_loop_is_found_by_the_jump_back() -> None:
    instructions = read_intel_isa(LOOP)
    (loop,) = loops_of(instructions, ())
    assert (loop.depth, loop.instructions) == (1, 5)
    found = counts(LOOP)
    assert (found[("fma", "f32")], found[("convert", "f32")], found[("branch", "")]) == (1, 1, 2)


@pytest.mark.parametrize("text", ["", "no code at all\n", "L0:\n        illegal\n", "(W)\n", "x (16|M0)\n"])
def test_what_is_no_code_has_no_arithmetic(text: str) -> None:
    assert mix_of(read_intel_isa(text)) == ()
