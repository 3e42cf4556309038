// Preloaded into a bundled program: names on standard error, at its end, the files that were loaded.
process.on('exit', () => {
  const { basename } = require('node:path');
  for (const file of Object.keys(require.cache)) process.stderr.write(`loaded ${basename(file)}\n`);
});
