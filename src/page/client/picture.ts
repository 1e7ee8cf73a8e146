/** Buttons that save the picture of the link before them as PNG, at twice its size, so that it is sharp in print. */
import { confirmOn } from './basics.ts'

const SCALE = 2

async function savePng(link: HTMLAnchorElement): Promise<void> {
  const image = Object.assign(new Image(), { src: link.href })
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = SCALE * image.naturalWidth
  canvas.height = SCALE * image.naturalHeight
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height)
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done))
  const href = URL.createObjectURL(blob!)
  Object.assign(document.createElement('a'), { href, download: link.download.replace(/svg$/, 'png') }).click()
  URL.revokeObjectURL(href)
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element && target.closest<HTMLButtonElement>('[data-png]')
  if (!button) return
  savePng(button.previousElementSibling as HTMLAnchorElement).catch(() => confirmOn(button, button.dataset.png!))
})
