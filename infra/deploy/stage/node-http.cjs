/**
 * @module Node's own `node:http`, taken by another way than an import. An import reads every export of a module, and some exports of
 * this one load Node's fetch when they are read, which takes longer than the rest of a function's start.
 */
module.exports = process.getBuiltinModule('node:http');
