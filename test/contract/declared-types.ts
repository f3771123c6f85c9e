/**
 * @module Reads the fields of an interface, and the literals of a type, from a declaration file. It loads no other
 * file.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** @param path the names of the namespaces and of the declaration, such as `Invoice.Status` */
export const declaredFields = (file: string, path: string): readonly string[] => {
  const declaration = declarationIn(file, path);
  if (!ts.isInterfaceDeclaration(declaration)) throw new Error(`${path} of ${file} is no interface`);
  return declaration.members.flatMap(({ name }) => (name && ts.isIdentifier(name) ? name.text : []));
};

/** The string values of a union, an enum or an object of constants. */
export const declaredTexts = (file: string, path: string): readonly string[] => {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(declarationIn(file, path));
  return [...new Set(found)];
};

/** The words that match the pattern in a field's comment. A field of type string lists its values only there. */
export const documentedWords = (file: string, path: string, word: RegExp): readonly string[] => {
  const [field = '', ...names] = path.split('.').reverse();
  const declaration = declarationIn(file, names.reverse().join('.'));
  if (!ts.isInterfaceDeclaration(declaration)) throw new Error(`${path} of ${file} is no field`);
  const member = declaration.members.find(({ name }) => name && ts.isIdentifier(name) && name.text === field);
  const text = member?.getFullText().slice(0, -member.getText().length) ?? '';
  return [...new Set([...text.matchAll(word)].map(([, found = '']) => found))];
};

type Declaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.EnumDeclaration | ts.VariableStatement;

const declarationIn = (file: string, path: string): Declaration => {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = source.statements.flatMap((statement) => declarationsIn(statement, ''));
  const wanted = found.find(([name]) => name === path)?.[1];
  if (!wanted) throw new Error(`${file} does not declare ${path}`);
  return wanted;
};

const declarationsIn = (node: ts.Node, within: string): readonly (readonly [string, Declaration])[] => {
  if (ts.isModuleDeclaration(node) && node.body && ts.isModuleBlock(node.body)) {
    return node.body.statements.flatMap((statement) => declarationsIn(statement, `${within}${node.name.text}.`));
  }
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)) {
    return [[`${within}${node.name.text}`, node]];
  }
  if (!ts.isVariableStatement(node)) return [];
  return node.declarationList.declarations.map(({ name }) => [`${within}${name.getText()}`, node] as const);
};
