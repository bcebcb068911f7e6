import { connect } from './connect.mjs';
import { work } from './work.mjs';

const redis = await connect(process.argv[2]);
process.on('message', async (job) => process.send(await work({ ...job, redis })));
process.on('disconnect', () => redis.disconnect());
process.send('ready');
