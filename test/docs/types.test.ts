import ts from 'typescript';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examples, files, root } from './pages.ts';

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile).config,
  ts.sys,
  root,
);

/** The errors of programs that are given by their paths, whether they are on the disk or not. */
function errorsIn(programs: Map<string, string>): string[] {
  const strict = { ...options, exactOptionalPropertyTypes: true };
  const host = ts.createCompilerHost(strict);
  const { fileExists, readFile, getSourceFile } = host;
  Object.assign(host, {
    fileExists: (path: string) => programs.has(path) || fileExists(path),
    readFile: (path: string) => programs.get(path) ?? readFile(path),
    getSourceFile: (path: string, language: ts.ScriptTarget) =>
      programs.has(path)
        ? ts.createSourceFile(path, programs.get(path)!, language)
        : getSourceFile(path, language),
  });
  const program = ts.createProgram([...programs.keys()], strict, host);
  const sources = [...programs.keys()].map((path) => program.getSourceFile(path)!);
  return sources
    .flatMap((source) => ts.getPreEmitDiagnostics(program, source))
    .map(({ file, start, messageText }) => {
      const line = file!.getLineAndCharacterOfPosition(start!).line + 1;
      return `${file!.fileName.slice(root.length)}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
}

/** The programs of the pages: the examples with a name, and the modules of examples/. */
const programs = new Map([
  ...examples.flatMap(({ name, code }): [string, string][] =>
    name === undefined ? [] : [[`${root}${name}.mts`, code]],
  ),
  ...files
    .filter(({ file }) => file.endsWith('.ts'))
    .map(({ file, code }): [string, string] => [root + file, code]),
]);

/** A program with an error, which shows that errors are found. */
const wrong: [string, string] = [`${root}wrong.mts`, '\nexport const n: number = "a";'];

test('every program of the pages compiles, with all strict options', () => {
  assert.ok(programs.size > 20, `only ${programs.size} programs were found`);
  assert.equal(errorsIn(new Map([...programs, wrong])), [
    "wrong.mts:2: Type 'string' is not assignable to type 'number'.",
  ]);
});

test.run();
