import { openPlace } from '../../lake/places/bucket.ts'
import type { LakePlace } from '../../lake/places/place.ts'
import type { S3Access } from '../../lake/places/s3.ts'
import { rememberSecret } from '../terminal/secrets.ts'
import { environment } from './config.ts'

/** Reads the access to object storage. Its client reads the variables and files of AWS, but not `.env`. */
function readS3Access(): S3Access {
  const env = environment()
  const endpoint = env.get('AWS_ENDPOINT_URL_S3') ?? env.get('AWS_ENDPOINT_URL')
  const region = env.get('AWS_REGION') ?? env.get('AWS_DEFAULT_REGION')
  const id = env.get('AWS_ACCESS_KEY_ID')
  const secret = env.get('AWS_SECRET_ACCESS_KEY')
  const token = env.get('AWS_SESSION_TOKEN')
  for (const hidden of [secret, token]) if (hidden) rememberSecret(hidden.value)
  const keys =
    id && secret && id.from === '.env'
      ? { accessKeyId: id.value, secretAccessKey: secret.value, ...(token && { sessionToken: token.value }) }
      : null
  return {
    ...(endpoint && { endpoint: endpoint.value }),
    ...(region && { region: region.value }),
    ...(keys && { credentials: keys }),
  }
}

/** Opens a lake, passes its place to a function, and closes it. */
export async function withLake<T>(address: string, work: (place: LakePlace) => Promise<T>): Promise<T> {
  const place = await openPlace(address, readS3Access())
  try {
    return await work(place)
  } finally {
    place.close()
  }
}
