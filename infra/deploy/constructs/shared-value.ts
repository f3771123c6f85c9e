/**
 * @module Values that stacks share. A stack writes a value to a parameter in SSM, and later stacks read the parameter when
 * they are deployed. A parameter can change or vanish at any time; an export cannot while another stack imports it.
 */
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import type { Stage } from '../stage/settings.ts';
import { constructId } from './service-function.ts';

interface SharedName {
  readonly stage: Stage;
  /** The part of the stack that writes the value. */
  readonly part: string;
  readonly name: string;
}

const parameterName = ({ stage, part, name }: SharedName): string => `/payments/${stage}/${part}/${name}`;

export const writeShared = (scope: Construct, at: SharedName, value: string): void => {
  new StringParameter(scope, `Shared${constructId(at.name)}`, { parameterName: parameterName(at), stringValue: value });
};

/** The stack that writes the value must be deployed first. A stack has one template parameter for each value it reads. */
export const readShared = (scope: Construct, at: SharedName): string =>
  StringParameter.valueForStringParameter(scope, parameterName(at));
