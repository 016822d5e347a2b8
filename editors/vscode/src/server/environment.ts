/** The environment that Kernelcast's processes are started in. */

/**
 * The user's own, less what could make Python import from the workspace: somebody's folder `model/` must never be
 * taken for ours.
 */
export function pythonEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const { PYTHONPATH: _path, PYTHONHOME: _home, PYTHONSTARTUP: _startup, ...rest } = env;
  return { ...rest, PYTHONSAFEPATH: '1', PYTHONUNBUFFERED: '1' };
}
