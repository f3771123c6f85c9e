/**
 * @module Node's own `node:http`, without an import. An import reads every export of a module. Some exports of
 * node:http load Node's fetch when read, which takes longer than the rest of a function's start.
 */
module.exports = process.getBuiltinModule('node:http');
