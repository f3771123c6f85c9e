/** @module A CloudFormation template, for comparing a built stack with the deployed one. */

import * as z from 'zod';

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
});

const templateSchema = z.looseObject({
  Parameters: z.record(z.string(), z.looseObject({ Default: z.unknown().optional() })).default({}),
  Resources: z.record(z.string(), z.looseObject(resourceSchema.shape)).default({}),
});

export type StackTemplate = z.infer<typeof templateSchema>;
export type StackTemplateResource = StackTemplate['Resources'][string];

export const NO_TEMPLATE: StackTemplate = { Parameters: {}, Resources: {} };

/**
 * Parses a template. Replaces each non-ASCII character with a question mark, because CloudFormation does the same in
 * the templates that it returns.
 * @throws Error if the text is not a template.
 */
export const parseTemplate = (text: string): StackTemplate =>
  templateSchema.parse(JSON.parse(text.replaceAll(/[\u{80}-\u{10FFFF}]/gu, '?')));

/**
 * A template value in words, such as `Table12345678.Arn/index/owner`, or `/payments/dev/data/table-arn` for a
 * parameter.
 */
export const inTemplateWords = (value: unknown, template: StackTemplate): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map((part) => inTemplateWords(part, template)).join(', ');
  const [[name, argument] = ['', ''], ...more] = Object.entries(value);
  if (more.length > 0) return JSON.stringify(value);
  if (name === 'Ref') return referenced(String(argument), template);
  if (name === 'Fn::GetAtt') {
    const [id = '', ...path] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.');
    return [id, ...path].join('.');
  }
  if (name === 'Fn::Sub' && typeof argument === 'string') return argument;
  if (name === 'Fn::Join' && Array.isArray(argument) && Array.isArray(argument[1])) {
    return argument[1].map((part) => inTemplateWords(part, template)).join(String(argument[0]));
  }
  return JSON.stringify(value);
};

const referenced = (id: string, { Parameters }: StackTemplate): string => {
  const { Default } = Parameters[id] ?? {};
  return typeof Default === 'string' ? Default : id;
};

/** The text without CDK's hashes at the end of logical ids. */
export const withoutHashes = (text: string): string => text.replaceAll(/\b([A-Za-z]\w*?)[0-9A-F]{8}\b/g, '$1');
