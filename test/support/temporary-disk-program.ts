// Says which temporary disk is mounted at a place, as the agent would; null when it does not know.
import { temporaryDiskId } from '../../src/agent/impact/surroundings.ts';

const [how = '', place = ''] = process.argv.slice(2);
console.log(how === 'given' ? await temporaryDiskId(place) : await temporaryDiskId(undefined, [place]));
