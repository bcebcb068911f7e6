import ts from 'typescript';
import { booleans, comparisons, negated, numbers, swapped } from './operators.mjs';

const { SyntaxKind } = ts;
const assignments = { '+=': '-=', '-=': '+=', '||=': '&&=', '&&=': '||=' };

/** All mutants of a TypeScript source that its tests are expected to detect, in the order of the text. */
export function mutantsOf(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const put = (node, replacement) =>
    mutants.push({ start: node.getStart(), end: node.getEnd(), replacement });

  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isTypeAliasDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const operator = node.operatorToken.getText();
      const others = comparisons[operator] ?? swapped[operator] ?? assignments[operator];
      // A concatenation of strings is not a sum.
      const isText = /['"`]/.test(node.getText());
      if (others && !isText) put(node.operatorToken, others);
    }
    if (ts.isNumericLiteral(node)) put(node, numbers(node.text));
    if (node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword)
      put(node, booleans[node.getText()]);
    if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
      put(node, node.operand.getText());
    if (
      ts.isPropertyAccessExpression(node) &&
      node.expression.getText() === 'Math' &&
      negated[node.name.text]
    )
      put(node.name, negated[node.name.text]);
    if (ts.isIfStatement(node)) for (const value of ['true', 'false']) put(node.expression, value);
    if (ts.isExpressionStatement(node) && !/^super\b/.test(node.getText())) put(node, ';');
    if (ts.isReturnStatement(node) && !node.expression) put(node, ';');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants.sort((a, b) => a.start - b.start);
}
