// The DynamoDB adapter of Auth.js, driven over standard input: one call a line,
// {"method", "args"}, answered by one line, {"result"} or {"error"}.
import { DynamoDBAdapter } from "@auth/dynamodb-adapter"
import { DynamoDB } from "@aws-sdk/client-dynamodb"
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb"
import { createInterface } from "node:readline"

const [endpoint, options] = process.argv.slice(2)
const client = new DynamoDB({ endpoint, region: "us-east-1", credentials: { accessKeyId: "x", secretAccessKey: "y" } })
// As the page of the adapter has it.
const marshallOptions = { convertEmptyValues: true, removeUndefinedValues: true, convertClassInstanceToMap: true }
const adapter = DynamoDBAdapter(DynamoDBDocument.from(client, { marshallOptions }), JSON.parse(options))

const dates = new Set(["expires", "emailVerified"])
const revive = (key, value) => (dates.has(key) && value ? new Date(value) : value)

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line, revive)
  const answer = await Promise.resolve(adapter[method](...args)).then(
    (result) => ({ result: result ?? null }),
    (error) => ({ error: error.message }),
  )
  console.log(JSON.stringify(answer))
}
process.exit(0)
