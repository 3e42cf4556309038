// The first code of the executable: finds the files of the bundle inside it and runs each when it is first required.
const { writeFileSync } = require('node:fs');
const { getRawAsset } = require('node:sea');
const { compileFunction } = require('node:vm');

const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
const modules = new Map();

// A name that no file on the disk has.
const folder = '/scheduled-events-bridge';
const sourceOf = (name) => Buffer.from(getRawAsset(name)).toString('utf8');

function load(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const filename = `${folder}/${name}`;
  const module = { exports: {}, filename };
  modules.set(name, module);
  const run = compileFunction(sourceOf(name), parameters, { filename });
  run.call(module.exports, module.exports, requireFrom, module, filename, folder);
  return module.exports;
}

/** Files of the bundle by their name in it; the rest is Node's own. */
function requireFrom(id) {
  return id.startsWith('./') ? load(id.slice(2)) : require(id);
}

// Node calls its main thread "MainThread", and so do ps, top and the journal. `process.title` would write over the
// arguments, which are what tells an agent from a consumer.
if (process.platform === 'linux') {
  try {
    writeFileSync('/proc/self/comm', 'seb');
  } catch {
    // Only a name.
  }
}

load('seb.cjs');
