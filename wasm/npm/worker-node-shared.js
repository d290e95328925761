// The worker in Node, of the module whose threads share its memory.

import { serveNode } from './service-node.js'
import * as glue from './threads.js'

serveNode(glue)
