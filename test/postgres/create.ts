import pg from 'pg'

/** Runs work with its own connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

let made = 0

/** Creates a database on a server, optionally from a template. Returns its address and a function to drop it. */
export async function createDatabase(
  server: string,
  template = 'template1',
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const name = `test_${process.pid}_${++made}_${Date.now().toString(36)}`
  await withClient(server, (client) => client.query(`create database ${name} template ${template}`))
  const url = new URL(server)
  url.pathname = `/${name}`
  const drop = async (): Promise<void> => {
    await withClient(server, (client) => client.query(`drop database if exists ${name} with (force)`))
  }
  return { url: url.href, drop }
}
