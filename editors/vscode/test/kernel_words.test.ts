import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesKernel } from '../src/kernel_words.ts';

test('a kernel in a literal is seen, however the literal breaks its line', () => {
  for (const text of [
    'S = "__kernel void f();"',
    '"\\nkernel void f()"',
    '"kernel"\n  " void f()"',
    '"kernel\\n" "void"',
  ]) {
    assert.ok(namesKernel(text), text);
  }
});

test('ordinary programs name none', () => {
  for (const text of [
    '',
    'int kernel(void);',
    'kernel = svm.SVC(kernel="rbf")',
    '# the Linux kernel',
    'void kernel_init();',
  ]) {
    assert.ok(!namesKernel(text), text);
  }
});
