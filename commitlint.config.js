/** Words that do not begin an imperative: "Fix dates", not "The dates are fixed", "Fixed dates" or "Fixing dates". */
const NOT_IMPERATIVE =
  /^(?!(embed|exceed|feed|need|ping|proceed|seed|shed|shred|speed|string|succeed|bring)\b)(an?|the|this|no|every|each|what|who|how|when|where|if|on|\w+ed|\w+ing|adds|fixes|makes|removes|updates)\b/i

const imperative = ({ subject }) => [
  !NOT_IMPERATIVE.test(subject ?? ''),
  'Begin the subject with a verb in the imperative: "Fix dates", not "Fixed dates" or "The dates are fixed".',
]

export default {
  // The whole first line is the subject: no types or scopes.
  parserPreset: { parserOpts: { headerPattern: /^(.*)$/, headerCorrespondence: ['subject'] } },
  plugins: [{ rules: { imperative } }],
  rules: {
    imperative: [2, 'always'],
    'subject-empty': [2, 'never'],
    'subject-full-stop': [2, 'never', '.'],
    'header-max-length': [2, 'always', 72],
    'body-leading-blank': [2, 'always'],
  },
}
