// What Perfetto's trace processor makes of FXT files. Prints one JSON object a file:
//   node perfetto_count.mjs FILE...          {"file","trace_type","stats":{...},"slice":N,...,"expected":{...},"skip":""}
//   node perfetto_count.mjs --slices FILE... and "slices":[["ts","dur",name,pid,tid],...]
// "expected" is counted by a decoder of its own, below, that knows record headers only. "skip" names why the two may differ:
// a documented limit of the reader, not of the file. scripts/perfetto-setup.sh fetches the engine.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import vm from 'node:vm';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const assets = process.env.PERFETTO_DIR ?? join(root, process.env.BUILD ?? 'build', 'perfetto');

const MAGIC = 0x0016547846040010n;
// Sample cells that tell the query result's iterator the type of a column.
const STR = 'str', NUM = 0, LONG = 0n;
const EVENT = 4, SCHEDULING = 8, LARGE = 15;

// Counts what a viewer should show, from the headers.
function expect(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const seen = { records: 0, slice: 0, counter: 0, skip: '' };
	if (bytes.length < 8 || view.getBigUint64(0, true) !== MAGIC)
		return { ...seen, skip: 'not little-endian, or without magic' };
	for (let at = 0; at + 8 <= bytes.length;) {
		const low = view.getUint32(at, true), high = view.getUint32(at + 4, true);
		const type = low & 15;
		const words = type === LARGE ? (low >>> 4) + (high & 15) * 2 ** 28 : (low >>> 4) & 0xfff;
		if (words === 0 || at + words * 8 > bytes.length)
			return { ...seen, skip: `no record at ${at}` };
		seen.records++;
		if (type === LARGE && words > 4095)
			seen.skip = 'a large record of more than 4095 words: the reader takes 12 bits of its size';
		if (type === SCHEDULING && high >>> 28 > 0) {
			const cpu = ((low >>> 20) | (high << 12)) & 0xffff;
			if (cpu >= 4096)
				seen.skip = 'a cpu of 4096 or more: the reader aborts';
		}
		if (type === EVENT) {
			const event = (low >>> 16) & 15;
			// Instants, begins, completes, async begins and async instants are a row each.
			if ([0, 2, 4, 5, 6].includes(event))
				seen.slice++;
			// Each argument of a counter is a row.
			if (event === 1)
				seen.counter += (low >>> 20) & 15;
		}
		at += words * 8;
	}
	return seen;
}

// The engine was built for a web worker: give it the globals of one, and the module's bytes for its request.
async function loadEngine() {
	const { EngineBase } = await import(pathToFileURL(join(assets, 'engine.mjs')));
	const wasm = readFileSync(join(assets, 'trace_processor.wasm'));
	const scope = {
		console: { log() {}, warn() {}, error() {} }, setTimeout, clearTimeout, performance, TextDecoder, TextEncoder, URL,
		crypto: globalThis.crypto, queueMicrotask, Uint8Array, ArrayBuffer, TypeError, Error,
		location: { href: 'https://localhost/engine.js' },
		WorkerGlobalScope: function WorkerGlobalScope() {},
		XMLHttpRequest: class {
			open() {}
			send() { this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength); }
		},
		WebAssembly: {
			...Object.fromEntries(Object.getOwnPropertyNames(WebAssembly).map((key) => [key, WebAssembly[key]])),
			// The probe for 64-bit memories, 23 bytes, fails, so that the 32-bit engine is taken: the only one in the package.
			Module: function Module(code) {
				if (code.byteLength === 23)
					throw new Error('32-bit only');
				return new WebAssembly.Module(code);
			},
		},
	};
	scope.self = scope;
	vm.runInContext(readFileSync(join(assets, 'engine_bundle.node.js'), 'utf8'), vm.createContext(scope),
			{ filename: 'engine_bundle.node.js' });
	const { port1, port2 } = new MessageChannel();
	scope.onmessage({ data: port1 });
	// The engine sets up its request buffer in a promise of its own, and takes no message before.
	await new Promise((resolve) => setTimeout(resolve, 100));

	class Engine extends EngineBase {
		mode = 'WASM';
		id = 'count';
		constructor() {
			super();
			port2.onmessage = (message) => this.onRpcResponseBytes(message.data);
		}
		rpcSendRequestBytes(bytes) {
			port2.postMessage(bytes);
		}
		close() {
			port1.close();
			port2.close();
		}
	}
	return new Engine();
}

async function scalar(engine, sql) {
	const result = await engine.query(sql);
	const row = result.iter({ v: NUM });
	return Number(row.v);
}

async function count(engine, file) {
	const bytes = new Uint8Array(readFileSync(file));
	const { skip, ...expected } = expect(bytes);
	const out = { file, trace_type: '', error: '', stats: {}, slice: 0, counter: 0, flow: 0, sched: 0, thread: 0, args: 0, expected, skip };
	await engine.resetTraceProcessor({ cropTrackEvents: false, ingestFtraceInRawTable: false, analyzeTraceProtoContent: false,
					   ftraceDropUntilAllCpusValid: false });
	try {
		for (let at = 0; at < bytes.length; at += 1 << 24)
			await engine.parse(bytes.subarray(at, at + (1 << 24)));
		await engine.notifyEof();
	} catch (error) {
		out.error = String(error.message ?? error).split('\n')[0];
		return out;
	}
	const type = (await engine.query("select str_value as v from metadata where name = 'trace_type'")).iter({ v: STR });
	out.trace_type = type.valid() ? type.v : '';
	const stats = (await engine.query(
		"select name, sum(value) as v from stats where value != 0 and (name glob 'fuchsia_*' or name glob 'flow_*' or " +
		"name glob 'slice_*') group by name order by name")).iter({ name: STR, v: NUM });
	for (; stats.valid(); stats.next())
		out.stats[stats.name] = Number(stats.v);
	for (const table of ['slice', 'counter', 'flow', 'sched', 'thread', 'args'])
		out[table] = await scalar(engine, `select count(*) as v from ${table}`);
	return out;
}

async function slices(engine) {
	const row = (await engine.query(
		"select s.ts as ts, s.dur as dur, ifnull(s.name, '') as name, ifnull(p.pid, -1) as pid, ifnull(t.tid, -1) as tid from slice s " +
		'left join thread_track k on s.track_id = k.id left join thread t using (utid) left join process p using (upid)'
		)).iter({ ts: LONG, dur: LONG, name: STR, pid: NUM, tid: NUM });
	const out = [];
	for (; row.valid(); row.next())
		out.push([String(row.ts), String(row.dur), row.name, Number(row.pid), Number(row.tid)]);
	return out;
}

const warn = console.warn;
console.warn = (...args) => /Unexpected QueryResult/.test(String(args[0])) || warn(...args);
const engine = await loadEngine();
const detailed = process.argv[2] === '--slices';
for (const file of process.argv.slice(detailed ? 3 : 2)) {
	const out = await count(engine, file);
	if (detailed)
		out.slices = out.error ? [] : await slices(engine);
	console.log(JSON.stringify(out));
}
engine.close();
process.exit(0);
