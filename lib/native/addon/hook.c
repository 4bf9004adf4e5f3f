/** Leads the calls of a function of the C library by libuv through another: by an entry in a table of its program's, which the loader has filled. */

#define _GNU_SOURCE

#include "values.h"
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_CALL(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_CALL(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_CALL(type) false
#endif

extern int uv_run (void *loop, int mode); // uv.h does not go together with linux/tcp.h

struct hooked { const char *name; void *function; bool is_done; };

/** Where a table is that the dynamic section names: glibc has put the address there, musl leaves the offset in the program. */
static const void *table_at (const struct dl_phdr_info *info, ElfW(Addr) at) {
  return (const void *) (at < info->dlpi_addr ? info->dlpi_addr + at : at);
}

/** In one program or library, if it is the one that has libuv. */
static int hook_in (struct dl_phdr_info *info, size_t size, void *data) {
  (void) size;
  struct hooked *hooked = data;
  const uintptr_t inside = (uintptr_t) uv_run;
  const ElfW(Dyn) *dynamic = NULL;
  uintptr_t from = 0, until = 0; // what is read-only once the loader is done
  bool is_it = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t at = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && inside >= at && inside < at + part->p_memsz) is_it = true;
    if (part->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *) at;
    if (part->p_type == PT_GNU_RELRO) from = at, until = at + part->p_memsz;
  }
  if (!is_it || !dynamic) return 0;
  const ElfW(Rela) *tables[2] = { NULL, NULL };
  size_t lengths[2] = { 0, 0 };
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_JMPREL) tables[0] = table_at(info, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_PLTRELSZ) lengths[0] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) tables[1] = table_at(info, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_RELASZ) lengths[1] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_SYMTAB) symbols = table_at(info, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) names = table_at(info, dynamic->d_un.d_ptr);
  }
  size_t page = (size_t) sysconf(_SC_PAGESIZE);
  for (int table = 0; table < 2; table++) {
    for (size_t i = 0; tables[table] && symbols && names && i < lengths[table] / sizeof(ElfW(Rela)); i++) {
      const ElfW(Rela) *relocation = &tables[table][i];
      if (!IS_CALL(ELF64_R_TYPE(relocation->r_info)) || strcmp(names + symbols[ELF64_R_SYM(relocation->r_info)].st_name, hooked->name) != 0) continue;
      void **place = (void **) (info->dlpi_addr + relocation->r_offset);
      void *start = (void *) ((uintptr_t) place & ~(page - 1));
      hooked->is_done |= !hooked->function;
      if (!hooked->function) continue;
      bool is_read_only = (uintptr_t) place >= from && (uintptr_t) place < until;
      if (is_read_only && mprotect(start, page, PROT_READ | PROT_WRITE) < 0) continue;
      *place = hooked->function;
      if (is_read_only) mprotect(start, page, PROT_READ);
      hooked->is_done = true;
    }
  }
  return 1;
}

/** Calls of `name` by the program or library that has libuv go to `function` from here on; NULL: they could. False: this Node.js has no such table. */
bool hook (const char *name, void *function) {
  struct hooked hooked = { .name = name, .function = function };
  dl_iterate_phdr(hook_in, &hooked);
  return hooked.is_done;
}
