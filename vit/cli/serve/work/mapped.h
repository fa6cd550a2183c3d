/* Files that become shorter while they are read.
 *
 * A model file is mapped while it is loaded. If somebody cuts it off or copies another one over it
 * then, the system has no bytes for some pages, and a read of them would end the program by SIGBUS.
 * After serve_guard_maps such pages read as zeros instead, and are counted, so that who has loaded
 * a file can tell. */
#ifndef VIT_CLI_SERVE_WORK_MAPPED_H
#define VIT_CLI_SERVE_WORK_MAPPED_H

#include <stddef.h>

/* To be called once, by the program: it handles SIGBUS from then on. */
void serve_guard_maps(void);

/* The number of pages that were not there when they were read, so far. Any thread may ask. */
size_t serve_missing_pages(void);

#endif
