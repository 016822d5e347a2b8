/** The one server of this window: found, started, stopped, started again. */

import { mkdir } from 'node:fs/promises';
import { commands, EventEmitter, type CancellationToken, type Disposable, type ExtensionContext } from 'vscode';
import { ExecuteCommandRequest, State, type LanguageClient } from 'vscode-languageclient/node';
import { Failure, INSTALL, OPEN_SETTINGS, RESTART, SHOW_LOGS } from '../failure.ts';
import { inWords, log } from '../log.ts';
import { complain } from '../messages.ts';
import { isRefusal, type Status } from '../protocol.ts';
import type { FoundServer, NotFound } from '../server/discovery.ts';
import { Deaths } from './deaths.ts';
import { createClient } from './start.ts';

export type ServerState =
  | { readonly kind: 'stopped' | 'installing' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly server: FoundServer }
  | { readonly kind: 'missing'; readonly why: NotFound }
  | { readonly kind: 'failed'; readonly message: string };

const DEVICE_KEY = 'kernelcast.device';

export class Server implements Disposable {
  private readonly context: ExtensionContext;
  private readonly find: () => Promise<FoundServer | NotFound>;
  private readonly stateChanged = new EventEmitter<ServerState>();
  private readonly statusCame = new EventEmitter<Status>();
  private readonly deaths = new Deaths();
  private client: LanguageClient | undefined;
  private queue: Promise<void> = Promise.resolve();
  private current: ServerState = { kind: 'stopped' };

  readonly onDidChangeState = this.stateChanged.event;
  readonly onStatus = this.statusCame.event;

  constructor(context: ExtensionContext, find: () => Promise<FoundServer | NotFound>) {
    this.context = context;
    this.find = find;
  }

  get state(): ServerState {
    return this.current;
  }

  /** Looks for the server anew each time, so that whatever the user mended is seen. */
  restart(): Promise<void> {
    return this.next(async () => {
      this.deaths.forget();
      await this.end();
      await this.begin();
    });
  }

  /** `installing` says what the user is waiting for meanwhile. */
  stop(why: 'stopped' | 'installing' = 'stopped'): Promise<void> {
    return this.next(async () => {
      await this.end();
      this.become({ kind: why });
    });
  }

  dispose(): void {
    void this.stop();
    this.stateChanged.dispose();
    this.statusCame.dispose();
  }

  /** The device that the user chose in this workspace; sent at each start. */
  get rememberedDevice(): string | undefined {
    return this.context.workspaceState.get<string>(DEVICE_KEY);
  }

  async rememberDevice(id: string | undefined): Promise<void> {
    await this.context.workspaceState.update(DEVICE_KEY, id);
  }

  /** The protocol's way of writing a document's address, which the server knows it by. */
  uriOf(document: { readonly uri: Parameters<LanguageClient['code2ProtocolConverter']['asUri']>[0] }): string {
    return this.client?.code2ProtocolConverter.asUri(document.uri) ?? document.uri.toString();
  }

  get running(): LanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  /** Runs a command of the server's. Undefined when it was refused, of which the server has told the user. */
  async execute<Answer>(
    command: string,
    args: readonly unknown[],
    token?: CancellationToken,
  ): Promise<Answer | undefined> {
    await this.queue;
    if (this.current.kind === 'stopped') {
      await this.restart(); // no document has needed it yet
    }
    const client = this.client;
    if (client === undefined) {
      throw this.notRunning();
    }
    if (client.state === State.Starting) {
      await client.start();
    }
    if (client.state !== State.Running) {
      throw this.notRunning();
    }
    const params = { command, arguments: [...args] };
    const answer: unknown = await (token === undefined
      ? client.sendRequest(ExecuteCommandRequest.type, params)
      : client.sendRequest(ExecuteCommandRequest.type, params, token));
    if (isRefusal(answer)) {
      log().info(`${command}: ${answer.error.message}`);
      return undefined;
    }
    return answer as Answer;
  }

  /** Why nothing can be asked of the server now, and the way out. */
  notRunning(): Failure {
    switch (this.current.kind) {
      case 'installing':
        return new Failure('The Kernelcast server is being installed; a moment, please.');
      case 'missing':
        return missing(this.current.why);
      case 'failed':
        return new Failure(this.current.message, RESTART, SHOW_LOGS);
      default:
        return new Failure('The Kernelcast server is not running.', RESTART, SHOW_LOGS);
    }
  }

  private next(step: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(step).catch((error: unknown) => {
      log().error(inWords(error));
    });
    return this.queue;
  }

  private async begin(): Promise<void> {
    this.become({ kind: 'starting' });
    const found = await this.find();
    if ('because' in found) {
      log().warn(found.message);
      this.become({ kind: 'missing', why: found });
      return;
    }
    log().info(`Starting ${found.path} (${found.version}; ${found.origin})`);
    const cwd = this.context.globalStorageUri.fsPath;
    await mkdir(cwd, { recursive: true });
    const client = createClient(found, cwd, {
      rememberedDevice: () => this.rememberedDevice,
      onStatus: (status) => {
        this.statusCame.fire(status);
      },
    });
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) {
        return; // ended by us
      }
      if (newState === State.Running) {
        this.become({ kind: 'running', server: found });
      } else if (newState !== State.Starting) {
        this.died(client);
      }
    });
    try {
      await client.start();
    } catch (error) {
      log().error(`The server did not start: ${inWords(error)}`);
    }
  }

  /** A server that dies is started again, so many times in a while; then the user is asked. */
  private died(client: LanguageClient): void {
    this.client = undefined;
    void this.next(() => client.dispose());
    if (this.deaths.another(Date.now())) {
      log().warn('The server ended by itself and is started again.');
      void this.next(() => this.begin());
      return;
    }
    const message = 'The Kernelcast server ended several times by itself and is left as it is.';
    this.become({ kind: 'failed', message });
    complain(this.notRunning());
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client === undefined) {
      return;
    }
    try {
      await client.dispose(5_000);
    } catch (error) {
      log().info(`The server was not asked to end, or did not answer: ${inWords(error)}`);
    }
  }

  private become(state: ServerState): void {
    this.current = state;
    void commands.executeCommand('setContext', 'kernelcast.serverFound', state.kind === 'running');
    this.stateChanged.fire(state);
  }
}

function missing(why: NotFound): Failure {
  return why.because === 'setting'
    ? new Failure(`${why.message} Correct or clear the setting.`, OPEN_SETTINGS, INSTALL, SHOW_LOGS)
    : new Failure(
        `${why.message} Kernelcast can install one for itself, or you name one that is there.`,
        INSTALL,
        OPEN_SETTINGS,
        SHOW_LOGS,
      );
}
