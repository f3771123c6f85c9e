// Turns the API document into tools for a model. `node docs/examples/agent/tools.mjs payments:read` writes one tool per
// GET route that a service key with these scopes may call.
import { argv, env, stdout } from 'node:process';

const PAYMENTS_URL = env.PAYMENTS_URL ?? 'http://127.0.0.1:3000';
const scopes = argv.slice(2);

const document = await (await fetch(`${PAYMENTS_URL}/openapi.json`)).json();

const parameterOf = (parameter) =>
  parameter.$ref ? document.components.parameters[parameter.$ref.split('/').at(-1)] : parameter;

/** The path and query parameters as one flat object. The program sets the headers. */
const inputOf = ({ parameters = [] }) => {
  const sent = parameters.map(parameterOf).filter((parameter) => parameter.in === 'path' || parameter.in === 'query');
  return {
    type: 'object',
    properties: Object.fromEntries(sent.map(({ name, schema, description }) => [name, { ...schema, description }])),
    required: sent.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
};

const tools = Object.entries(document.paths).flatMap(([path, { get }]) =>
  get && scopes.includes(get['x-scopes']?.merchant)
    ? [
        {
          name: get.operationId.replaceAll('.', '_'),
          description: `${get.summary}. ${get.description ?? ''}`.slice(0, 1000),
          input_schema: inputOf(get),
          method: 'GET',
          path,
        },
      ]
    : [],
);
stdout.write(`${JSON.stringify(tools, null, 2)}\n`);
