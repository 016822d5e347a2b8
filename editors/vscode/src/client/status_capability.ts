/** Tells the server that this client shows `kernelcast/status`. */

import type { ClientCapabilities, FeatureState, StaticFeature } from 'vscode-languageclient/node';

export class StatusCapability implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...experimental, kernelcast: { status: true } };
  }

  initialize(): void {
    // nothing depends on what the server can do
  }

  getState(): FeatureState {
    return { kind: 'static' };
  }

  clear(): void {
    // holds nothing
  }
}
