// The doc comments of the public names, from which the API reference is made.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from './pages.ts';

type Declaration = ts.Statement & { name?: ts.Node };

const parsed = new Map<string, ts.SourceFile>();

/** A file of `src`. */
function sourceOf(file: string): ts.SourceFile {
  const text = () => readFileSync(`${root}src/${file}`, 'utf8');
  const source = parsed.get(file) ?? ts.createSourceFile(file, text(), ts.ScriptTarget.Latest, true);
  parsed.set(file, source);
  return source;
}

/** The declarations of a name in a file; a function has one for each overload. */
function declarationsOf(file: ts.SourceFile, name: string): Declaration[] {
  const declares = (node: ts.Statement) =>
    ts.isVariableStatement(node)
      ? node.declarationList.declarations.some((one) => one.name.getText() === name)
      : (node as Declaration).name?.getText() === name;
  return file.statements.filter(declares);
}

const exported = sourceOf('index.ts').statements.filter(ts.isExportDeclaration);
/** The declarations of each public name. */
const names = new Map(
  exported.flatMap(({ moduleSpecifier, exportClause }) => {
    const file = posix.normalize((moduleSpecifier as ts.StringLiteral).text);
    return (exportClause as ts.NamedExports).elements.map(
      ({ name }) => [name.text, declarationsOf(sourceOf(file), name.text)] as const,
    );
  }),
);

/** The doc comment of a declaration, or nothing. */
function commentOf(node: ts.Node): string {
  return ts
    .getJSDocCommentsAndTags(node)
    .map((part) => part.getFullText())
    .join('\n');
}

function isPublic(node: ts.Node): boolean {
  const name = (node as ts.ClassElement).name;
  if (name && (ts.isPrivateIdentifier(name) || ts.isComputedPropertyName(name))) return false;
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  return (
    !modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) && !/@internal/.test(commentOf(node))
  );
}

/** A field of one literal type, such as the `type` of an event, or the `code` of an error: it needs no comment. */
function isDiscriminant(node: ts.Node): boolean {
  const { type, initializer } = node as ts.PropertyDeclaration;
  return (
    (type !== undefined && ts.isLiteralTypeNode(type)) ||
    (initializer !== undefined && ts.isStringLiteral(initializer))
  );
}

interface Member {
  path: string;
  name: string;
  comment: string;
  isOptional: boolean;
}

/** The members of a class, an interface or an object type, with those of the helper types of its file that it extends. */
function membersOf(path: string, node: ts.Node): Member[] {
  if (ts.isTypeAliasDeclaration(node)) return membersOf(path, node.type);
  if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node))
    return node.types.flatMap((type) => membersOf(path, type));
  if (!ts.isClassDeclaration(node) && !ts.isInterfaceDeclaration(node) && !ts.isTypeLiteralNode(node))
    return [];
  const own = (node.members as ts.NodeArray<ts.ClassElement | ts.TypeElement>)
    .filter((member) => isPublic(member) && member.name && !isDiscriminant(member))
    .map((member) => ({
      path,
      name: member.name!.getText(),
      comment: commentOf(member),
      isOptional: (member as ts.TypeElement).questionToken !== undefined,
    }));
  const bases = ts.isTypeLiteralNode(node)
    ? []
    : (node.heritageClauses ?? []).flatMap(({ types }) => [...types]);
  const inherited = bases
    .map(({ expression }) => expression.getText())
    .filter((name) => !names.has(name))
    .flatMap((name) => declarationsOf(node.getSourceFile(), name))
    .flatMap((base) => membersOf(path, base));
  return [...own, ...inherited];
}

const all = [...names].flatMap(([name, declarations]) => declarations.map((node) => ({ name, node })));
const members = all.flatMap(({ name, node }) => membersOf(name, node));
const options = members.filter(({ path }) => path.endsWith('Options'));

/** The members of which each has several declarations (overloads) count as one with all their comments. */
function merged(found: readonly Member[]): Member[] {
  const byName = new Map<string, Member>();
  for (const one of found) {
    const key = `${one.path}.${one.name}`;
    byName.set(key, { ...one, comment: (byName.get(key)?.comment ?? '') + one.comment });
  }
  return [...byName.values()];
}

const shown = (found: readonly Member[]) => found.map(({ path, name }) => `${path}.${name}`);

test('every public name has a doc comment', () => {
  assert.ok(names.size > 60, `only ${names.size} names were found`);
  const without = [...names].filter(([, nodes]) => !nodes.some((node) => commentOf(node) !== ''));
  assert.equal(
    without.map(([name]) => name),
    [],
  );
});

test('every member of a public class, interface and type has a doc comment', () => {
  assert.ok(members.length > 150, `only ${members.length} members were found`);
  assert.equal(shown(merged(members).filter(({ comment }) => comment === '')), []);
});

test('every function, and every class but the kinds of errors, has an example', () => {
  const needed = all.filter(
    ({ name, node }) =>
      ts.isFunctionDeclaration(node) ||
      (ts.isClassDeclaration(node) && (!name.endsWith('Error') || name === 'SluiceError')),
  );
  const without = needed.filter(
    ({ name }) => !names.get(name)!.some((node) => /^ \* @example$/m.test(commentOf(node))),
  );
  assert.ok(needed.length > 12, `only ${needed.length} were found`);
  assert.equal([...new Set(without.map(({ name }) => name))], []);
});

test('every optional option names its default, or what happens without it', () => {
  assert.ok(options.length > 40, `only ${options.length} options were found`);
  const optional = options.filter(({ isOptional }) => isOptional);
  assert.equal(shown(optional.filter(({ comment }) => !/default|without/i.test(comment))), []);
});

test('every duration names its unit', () => {
  const isDuration =
    /^(interval|resolution|timeout|storeTimeout|cooldown|maxAge|max|keepAlive|idle|waited|retryAfter|resetAfter)$/;
  const durations = merged(members).filter(({ name }) => isDuration.test(name));
  assert.ok(durations.length > 12, `only ${durations.length} durations were found`);
  assert.equal(shown(durations.filter(({ comment }) => !/milliseconds?\b|\bms\b/i.test(comment))), []);
});

test.run();
