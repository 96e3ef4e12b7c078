/* The bytes of the drive, in a sparse file. */
#ifndef STORE_H
#define STORE_H

#include <stdint.h>

#include "err.h"
#include "nbd.h"

/* A file name, or "fd:N" for one that is open already; made as long as size.
 * The descriptor is the caller's to close. */
int store_open(int *fd, const char *where, uint64_t size, struct err *e);
/* 0, or an error of the protocol. A read goes to buf. A flush does nothing:
 * what it costs is the model's business, and the file is not for after a
 * crash. */
uint32_t store_do(int fd, const struct nbd_request *r, void *buf);

#endif
