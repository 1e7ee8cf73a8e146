/** The other thread of a test: it never begins. */
throw new Error('at load')
