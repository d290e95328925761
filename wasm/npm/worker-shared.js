// The worker in browsers, of the module whose threads share its memory.

import { portOfSelf } from './ports.js'
import { serve } from './service.js'
import * as glue from './threads.js'

serve(portOfSelf(), glue)
