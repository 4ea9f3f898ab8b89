/** A test's result as adapters write it; see FIELD-NOTES.md part 6. Every field is optional, and null means absent. */
export interface ResultContent extends StepContent {
  uuid?: string | null
  historyId?: string | null
  testCaseId?: string | null
  fullName?: string | null
  titlePath?: readonly string[] | null
  labels?: readonly (NamedValue | null)[] | null
  links?: readonly ({ name?: string | null; url?: string | null; type?: string | null } | null)[] | null
}

interface StepContent {
  name?: string | null
  status?: string | null
  statusDetails?: { message?: string | null; trace?: string | null } | null
  description?: string | null
  descriptionHtml?: string | null
  steps?: readonly (StepContent | null)[] | null
  attachments?: readonly (AttachmentContent | null)[] | null
  parameters?: readonly (ParameterContent | null)[] | null
  /** milliseconds since 1970 */
  start?: number | null
  stop?: number | null
}

export interface NamedValue {
  name?: string | null
  value?: string | null
}

export interface ParameterContent extends NamedValue {
  excluded?: boolean | null
  mode?: string | null
}

interface AttachmentContent {
  name?: string | null
  source?: string | null
  type?: string | null
}

/** A `*-result.json` with a valid shape. */
export interface ResultFile {
  /** the directory as given; `file` is the file's name in it */
  directory: string
  file: string
  bytes: number
  content: ResultContent
}
