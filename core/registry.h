/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registries built from the files themselves: every file that defines an object registers it in a
 * linker section, so adding a parser, a format or a command touches one file.
 * Objects must be linked directly: those of a .a archive would silently vanish.
 */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

/* In the file that defines `static const struct parser tbench = {...};`:
 *	REGISTER(parser, tbench);
 */
#define REGISTER(type, object)                                                                     \
	static const struct type *const type##_registered_##object                                 \
		__attribute__((used, section("reg_" #type))) = &(object)

/* In the header: declares the bounds that the linker makes. */
#define REGISTRY(type)                                                                             \
	extern const struct type *const __start_reg_##type[] __attribute__((weak));                \
	extern const struct type *const __stop_reg_##type[] __attribute__((weak))

#define registry_for_each(type, p) for (p = __start_reg_##type; p < __stop_reg_##type; p++)

#endif
