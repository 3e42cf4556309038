// The version of the program, taken from package.json so that it stands in one place; the bundle carries it inside.
import metadata from '../package.json' with { type: 'json' };

export const version: string = metadata.version;
