// The worker in browsers, of the module whose threads share its memory.

import { serveBrowser } from './service-browser.js'
import * as glue from './threads.js'

serveBrowser(glue)
