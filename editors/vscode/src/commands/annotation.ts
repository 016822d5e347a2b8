/** "Write Launch Annotation": the assumed launch, as a comment to edit. */

import type { Server } from '../client/server.ts';
import { SERVER } from '../protocol.ts';
import { activeTarget, kernelsOf, pickKernel } from './active.ts';

export async function writeLaunchAnnotation(server: Server): Promise<void> {
  const target = activeTarget(server);
  const kernel = await pickKernel(await kernelsOf(server, target), target.editor);
  if (kernel !== undefined) {
    await server.execute(SERVER.writeAnnotation, [target.uri, kernel.name]);
  }
}
