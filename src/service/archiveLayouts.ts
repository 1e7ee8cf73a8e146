/** A known form of the files of archives, whose lines become rows of `archive_row`. */
export interface ArchiveLayout {
  /** How `archive_row.layout` names it; the view of its rows is `archive_` and this name. */
  readonly name: string
  /** For JSON: the key of the list of rows, and the keys of the cells that come first for `accepts`. */
  readonly root?: string
  readonly keys?: readonly string[]
  /** For text with semicolons: the names of its files. Its first lines, if any, name the file and its time. */
  readonly files?: RegExp
  readonly headLines?: number
  /** Whether the cells of a line, or a row of JSON, have the form that the view reads. */
  readonly accepts: (cells: readonly unknown[]) => boolean
}

const isText = (form: RegExp) => (cell: unknown) => typeof cell === 'string' && form.test(cell.trim())
const isNumber = isText(/^-?\d{1,20}(?:[.,]\d{1,20})?$/)
const isNumberOrEmpty = isText(/^(?:-?\d{1,20}(?:[.,]\d{1,20})?)?$/)
const isPeriod = isText(/^\d{1,2}$/)
const isDate = isText(/^\d{2}\/\d{2}\/\d{4}$/)

/**
 * The layouts of e·sios that are known. None is documented by the operator: they are what the code of several public clients
 * reads (PVPC) or of one (settlement). All other files stay files; I90 days are workbooks (XLS) in a ZIP.
 */
export const ARCHIVE_LAYOUTS: readonly ArchiveLayout[] = [
  {
    // Archive 70 as JSON: `{ PVPC: [{ Dia: "01/06/2021", Hora: "00-01", PCB: "116,33", CYM: "116,33", … }] }` in €/MWh.
    name: 'pvpc',
    root: 'PVPC',
    keys: ['Dia', 'Hora'],
    accepts: ([day, hours, ...prices]) =>
      isDate(day) && isText(/^\d{2}-\d{2}$/)(hours) && prices.every(isNumberOrEmpty),
  },
  {
    // Files of `C2_liquicomun` (`A1` to `C7`): `C2_prdvsuqh_20240101_20240131`.
    name: 'settlement',
    files: /^[AC]\d_[A-Za-z0-9]+_\d{8}_\d{8}$/,
    headLines: 2,
    // `01/01/2024;1;4;81.3;` is a quarter of an hour, without the quarter an hour; `L 01;81.3;…` is a day of hours.
    accepts: ([day, ...values]) =>
      isDate(day)
        ? [2, 3].includes(values.length) && values.slice(0, -1).every(isPeriod) && isNumber(values.at(-1))
        : isText(/^[LMXJVSD] ?\d{1,2}$/)(day) && values.length <= 25 && values.every(isNumberOrEmpty),
  },
]
