import { silentLog } from '@model-gateway/kernel';
import { createBus } from '../../src/index.ts';
import { createRedisServer } from '../redis-server.ts';
const server = await createRedisServer({});
await server.start();
for (const redisUrl of [server.url, undefined]) {
  const bus = createBus({ redisUrl, dataDir: '/tmp/bus-dev/d2', log: silentLog });
  await bus.start();
  let t = performance.now(); let seen = 0;
  const N = 30_000;
  const subs = await Promise.all(Array.from({length:N},(_, i)=>bus.channels.subscribe('c'+i, ()=>{seen++})));
  console.log('subscribe 30k', performance.now()-t);
  t = performance.now();
  await Promise.all(Array.from({length:N},(_, i)=>bus.channels.publish('c'+i, 'x')));
  while (seen < N) await new Promise(r=>setTimeout(r,1));
  console.log('publish 30k', performance.now()-t);
  if (redisUrl) {
    await server.kill(); while (bus.mode() !== 'local') await new Promise(r=>setTimeout(r,5));
    await server.start(); t = performance.now(); while (bus.mode() !== 'redis') await new Promise(r=>setTimeout(r,5));
    console.log('resubscribed 30k', performance.now()-t);
  }
  t = performance.now();
  await Promise.all(subs.map(s=>s.close())); console.log('closed', performance.now()-t);
  t = performance.now();
  for (let k=0;k<20;k++) await Promise.all(Array.from({length:500},(_, i)=>bus.journal.append({id:`${k}-${i}`, body:'x'.repeat(300)})));
  console.log('append 10k', performance.now()-t);
  t = performance.now(); const stop = new AbortController(); let got=0;
  const d = bus.journal.drain(async b=>{got+=b.length}, {batchSize:500, signal: stop.signal});
  while (got < 10000) await new Promise(r=>setTimeout(r,1));
  console.log('drain 10k', performance.now()-t);
  stop.abort(); await d; await bus.close();
}
await server.remove();
