/** Where this editor does something better than the protocol's plain way. */

import { commands, Position, type InlayHint, type Range, type TextDocument, type Uri } from 'vscode';
import type { BaseLanguageClient, Middleware } from 'vscode-languageclient/node';
import { SERVER } from '../protocol.ts';
import { expand, PathProblem } from '../server/paths.ts';
import { surroundings } from '../surroundings.ts';
import { log } from '../log.ts';
import { columnOf, ofTextNow } from './hints_of_now.ts';
import type { ProgressNotifications } from './progress.ts';

export function middleware(client: () => BaseLanguageClient, progress: ProgressNotifications): Middleware {
  return {
    executeCommand: (command, args, next): unknown => {
      const better = ofThisEditor(command, args);
      return better === undefined ? next(command, args) : commands.executeCommand(better);
    },
    handleWorkDoneProgress: (token, params, next) => {
      progress.handle(token, params, next);
    },
    provideInlayHints: async (document, range, token, next) =>
      behindLines(document, range, await ofTextNow(document, token, async () => next(document, range, token))),
    workspace: {
      configuration: async (params, token, next) => {
        const answers = await next(params, token);
        if (!Array.isArray(answers)) {
          return answers;
        }
        return answers.map((answer: unknown, at) => {
          const item = params.items[at];
          const scope = item?.scopeUri == null ? undefined : client().protocol2CodeConverter.asUri(item.scopeUri);
          return item?.section === 'kernelcast' ? withPathsResolved(answer, scope) : answer;
        });
      },
    },
  };
}

function behindLines<Answer extends InlayHint[] | null | undefined>(
  document: TextDocument,
  range: Range,
  hints: Answer,
): Answer {
  for (const hint of hints ?? []) {
    const { line } = hint.position;
    if (line < document.lineCount) {
      const end = document.lineAt(line).range.end.character;
      hint.position = new Position(line, columnOf(hint.position, end, range.end.line));
    }
  }
  return hints;
}

/** What this editor does itself for a code action: a pick list asks better than buttons, and a page fits a tab here. */
function ofThisEditor(command: string, args: readonly unknown[]): string | undefined {
  if (command === SERVER.chooseDevice && args.length === 0) {
    return 'kernelcast.selectDevice';
  }
  // Of the kernel at the cursor, as code actions are.
  return command === SERVER.report && args[2] !== 'content' ? 'kernelcast.showReport' : undefined;
}

/** The build options' texts, with `~` and the editor's variables replaced, which the server does not know. */
function withPathsResolved(settings: unknown, scope: Uri | undefined): unknown {
  if (!isObject(settings) || !isObject(settings['build'])) {
    return settings;
  }
  const around = surroundings(scope);
  const build = settings['build'];
  try {
    const resolved = {
      ...(Array.isArray(build['include']) ? { include: build['include'].map((text) => replaced(text, around)) } : {}),
      ...(Array.isArray(build['flags']) ? { flags: build['flags'].map((text) => replaced(text, around)) } : {}),
    };
    return { ...settings, build: { ...build, ...resolved } };
  } catch (error) {
    if (error instanceof PathProblem) {
      log().warn(`A build setting is passed on as it stands: ${error.message}.`);
      return settings;
    }
    throw error;
  }
}

function replaced(text: unknown, around: ReturnType<typeof surroundings>): unknown {
  return typeof text === 'string' ? expand(text, around) : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
