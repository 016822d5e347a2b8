/** "Open an Example Kernel": something to see a prediction on, without a file or a folder. */

import { Position, Selection, window, workspace } from 'vscode';

const EXAMPLE = `// An example: change a number, and watch the times.

// kernelcast: global=N N=4194304 x=N y=N n=N
__kernel void saxpy(__global const float *x, __global float *y, const float a, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// kernelcast: global=(W, H) local=(16, 8) W=1920 H=1080 picture=W*H width=W height=H
__kernel void darken(__global float4 *picture, const int width, const int height, const float factor)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height)
        picture[y * width + x] *= factor;
}
`;

export async function openExample(): Promise<void> {
  const document = await workspace.openTextDocument({ language: 'opencl', content: EXAMPLE });
  const editor = await window.showTextDocument(document);
  const first = new Position(3, 0);
  editor.selection = new Selection(first, first);
}
