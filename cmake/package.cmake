# `./dev package`: what `cmake --install` installs, as a Debian package. Dependencies are what dpkg-shlibdeps finds.
# What is built for it is named by ./dev, not "all", which has the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mynah)
set(CPACK_PACKAGE_CONTACT "the maintainers of mynah <mynah@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "local voice engine: speech to text, text to speech, voice activity")
set(CPACK_PACKAGE_DESCRIPTION
    "mynah writes down recordings and live sound, speaks texts and books, and finds speech, with Whisper, Kokoro, Piper and Silero models, \
on the processor or an NVIDIA card with nothing but its driver installed. Its doctor says why a speech stack does or does not use a card. \
Models come with `mynah pull`.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/package")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/package_layout.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION sound)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The built-in recogniser's model is opened by its name, which no library's needs tell of.
set(CPACK_DEBIAN_PACKAGE_DEPENDS pocketsphinx-en-us)
# Models are pulled by HTTPS. The sound server's library is opened by its name.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, libpulse0")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "avahi-utils, espeak-ng, open-jtalk, open-jtalk-mecab-naist-jdic, poppler-utils, python3-pip")
install(FILES packaging/mynah.service packaging/mynah.socket packaging/mynah-wyoming.socket DESTINATION lib/systemd/system)
include(CPack)
