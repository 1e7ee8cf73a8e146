import { bucketPlace } from './bucket.ts'
import { folderPlace } from './folder.ts'
import { isBucket, type LakePlace } from './place.ts'
import type { S3Access } from './s3.ts'

/** Where a lake lies, by its name: `s3://bucket/name`, or a folder. */
export const openPlace = async (asWritten: string, access: S3Access): Promise<LakePlace> =>
  isBucket(asWritten) ? bucketPlace(asWritten, access) : folderPlace(asWritten)
