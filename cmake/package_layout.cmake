# Debian's places and forms, where they differ from what `cmake --install` writes: CPack runs this before it packs.
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share")
file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
execute_process(COMMAND gzip -9n "${share}/man/man1/mynah.1" COMMAND_ERROR_IS_FATAL ANY)
