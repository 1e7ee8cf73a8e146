import { openPlace } from '../../lake/places/bucket.ts'
import type { LakePlace } from '../../lake/places/place.ts'
import type { S3Access } from '../../lake/places/s3.ts'
import { rememberSecret } from '../terminal/secrets.ts'
import { environment } from './config.ts'

/** How an object storage is reached. Its client reads the variables and files of AWS itself, but not a file `.env`. */
function s3Access(): S3Access {
  const env = environment()
  const [endpoint, region, id, secret, token] = [
    ...['AWS_ENDPOINT_URL_S3', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
  ].map((name) => env.get(name))
  const at = endpoint ?? env.get('AWS_ENDPOINT_URL')
  const where = region ?? env.get('AWS_DEFAULT_REGION')
  for (const hidden of [secret, token]) if (hidden) rememberSecret(hidden.value)
  return {
    ...(at ? { endpoint: at.value } : {}),
    ...(where ? { region: where.value } : {}),
    ...(id && secret && id.from === '.env'
      ? {
          credentials: {
            accessKeyId: id.value,
            secretAccessKey: secret.value,
            ...(token ? { sessionToken: token.value } : {}),
          },
        }
      : {}),
  }
}

/** Works with a lake where it lies. */
export async function withLake<T>(asWritten: string, work: (place: LakePlace) => Promise<T>): Promise<T> {
  const place = await openPlace(asWritten, s3Access())
  try {
    return await work(place)
  } finally {
    place.close()
  }
}
