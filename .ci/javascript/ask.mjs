// Asks the reading interface with the clients of JavaScript programs, and prints what they
// were answered, one JSON value a line. The argument is the address, as host:port.
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import cube from '@cubejs-backend/clickhouse-driver'

const [host, port] = process.argv[2].split(':')
const tell = (what, value) => console.log(JSON.stringify([what, value]))

const client = createClient({
  url: `http://${host}:${port}`, compression: { response: true, request: true },
  clickhouse_settings: { date_time_output_format: 'iso' }, application: 'larder-test', log: { level: ClickHouseLogLevel.OFF },
})
tell('ping', (await client.ping()).success)
const ask = async (what, query, more = {}) =>
  tell(what, await (await client.query({ query, format: 'JSONEachRow', ...more })).json())
await ask('session', 'SELECT currentDatabase() AS database, timezone() AS zone')
await ask('parameters', 'SELECT {day:Date32} AS day, {list:Array(String)} AS list, {none:Nullable(String)} AS none', {
  query_params: { day: '2026-10-25', list: ["it's", 'tab\there'], none: null },
})
const ids = Array.from({ length: 5000 }, (_, i) => `order-${i}`)
for (const way of [{ use_multipart_params: true }, { use_multipart_params_auto: true }]) {
  await ask(Object.keys(way)[0], 'SELECT length({ids:Array(String)}) AS n', { query_params: { ids }, ...way })
}
const keptAlive = await client.query({
  query: 'SELECT count() AS n FROM numbers(10)', format: 'JSON',
  clickhouse_settings: { send_progress_in_http_headers: 1, http_headers_progress_interval_ms: '1000', wait_end_of_query: 1 },
})
tell('progress', [keptAlive.response_headers['x-clickhouse-progress'] !== undefined, (await keptAlive.json()).data])
let streamed = 0
const stream = (await client.query({ query: 'SELECT number FROM numbers(200000)', format: 'JSONCompactEachRow' })).stream()
for await (const rows of stream) streamed += rows.length
tell('stream', streamed)
try {
  await client.command({ query: 'INSERT INTO larder.products (id) SELECT 1' })
} catch (error) {
  tell('refused', [error.type, error.code])
}
await client.close()

const driver = new cube.ClickHouseDriver({ host, port, database: 'larder', dataSource: 'default' })
await driver.testConnection()
tell('cube: tables', (await driver.getTablesQuery('larder')).some((t) => t.table_name === 'sales_orders'))
tell('cube: schema', Object.keys((await driver.tablesSchema()).larder ?? {}).includes('sales_daily'))
const day = { sql: 'SELECT toStartOfDay(created_at) AS `orders.day`, count(*) AS `orders.count` FROM larder.sales_orders WHERE type <> ? GROUP BY 1 ORDER BY 1 LIMIT 1', values: ["it's"] }
const rows = await driver.query(day.sql, day.values)
tell('cube: rows', rows.map((r) => [/^\d{4}-\d\d-\d\dT\d\d:00:00\.000$/.test(r['orders.day']), Number(r['orders.count']) > 0]))
const download = await driver.downloadQueryResults(day.sql, day.values, { streamImport: true, highWaterMark: 100 })
tell('cube: types', download.types)
let read = 0
for await (const _ of download.rowStream) read++
tell('cube: stream', read)
await download.release()
await driver.release()
