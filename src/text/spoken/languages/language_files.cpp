#include "text/spoken/languages/language_files.h"

#include <array>

// The files as they are, without a detour by way of source.
#define MYNAH_LANGUAGE_FILE(name, file)                                                     \
  asm(".section .rodata\nmynah_language_" #name "_begin:\n.incbin \"" MYNAH_LANGUAGE_FOLDER \
      "/" file ".json\"\nmynah_language_" #name "_end:\n.previous\n");                      \
  extern "C" {                                                                              \
  extern const char mynah_language_##name##_begin[];                                        \
  extern const char mynah_language_##name##_end[];                                          \
  }

MYNAH_LANGUAGE_FILE(cs, "cs")
MYNAH_LANGUAGE_FILE(cs_cldr, "cs.cldr")
MYNAH_LANGUAGE_FILE(de, "de")
MYNAH_LANGUAGE_FILE(de_cldr, "de.cldr")
MYNAH_LANGUAGE_FILE(de_ch, "de-ch")
MYNAH_LANGUAGE_FILE(es, "es")
MYNAH_LANGUAGE_FILE(es_cldr, "es.cldr")
MYNAH_LANGUAGE_FILE(fr, "fr")
MYNAH_LANGUAGE_FILE(fr_cldr, "fr.cldr")
MYNAH_LANGUAGE_FILE(fr_be, "fr-be")
MYNAH_LANGUAGE_FILE(fr_be_cldr, "fr-be.cldr")
MYNAH_LANGUAGE_FILE(fr_ch, "fr-ch")
MYNAH_LANGUAGE_FILE(fr_ch_cldr, "fr-ch.cldr")
MYNAH_LANGUAGE_FILE(hi, "hi")
MYNAH_LANGUAGE_FILE(hi_cldr, "hi.cldr")
MYNAH_LANGUAGE_FILE(it, "it")
MYNAH_LANGUAGE_FILE(it_cldr, "it.cldr")
MYNAH_LANGUAGE_FILE(nl, "nl")
MYNAH_LANGUAGE_FILE(nl_cldr, "nl.cldr")
MYNAH_LANGUAGE_FILE(pl, "pl")
MYNAH_LANGUAGE_FILE(pl_cldr, "pl.cldr")
MYNAH_LANGUAGE_FILE(pt, "pt")
MYNAH_LANGUAGE_FILE(pt_cldr, "pt.cldr")
MYNAH_LANGUAGE_FILE(pt_pt, "pt-pt")
MYNAH_LANGUAGE_FILE(pt_pt_cldr, "pt-pt.cldr")
MYNAH_LANGUAGE_FILE(ru, "ru")
MYNAH_LANGUAGE_FILE(ru_cldr, "ru.cldr")
MYNAH_LANGUAGE_FILE(sv, "sv")
MYNAH_LANGUAGE_FILE(sv_cldr, "sv.cldr")
MYNAH_LANGUAGE_FILE(tr, "tr")
MYNAH_LANGUAGE_FILE(tr_cldr, "tr.cldr")
MYNAH_LANGUAGE_FILE(uk, "uk")
MYNAH_LANGUAGE_FILE(uk_cldr, "uk.cldr")
MYNAH_LANGUAGE_FILE(es_419, "es-419")
MYNAH_LANGUAGE_FILE(es_ar, "es-ar")
MYNAH_LANGUAGE_FILE(es_mx, "es-mx")
MYNAH_LANGUAGE_FILE(shared, "shared")

namespace mynah {
namespace {

#define MYNAH_LANGUAGE_TEXT(name, file)                          \
  LanguageFile {                                                 \
    file, {                                                      \
      mynah_language_##name##_begin, mynah_language_##name##_end \
    }                                                            \
  }

std::array<LanguageFile, 37> embedded() {
  return {MYNAH_LANGUAGE_TEXT(cs, "cs"),         MYNAH_LANGUAGE_TEXT(cs_cldr, "cs.cldr"),
          MYNAH_LANGUAGE_TEXT(de, "de"),         MYNAH_LANGUAGE_TEXT(de_cldr, "de.cldr"),
          MYNAH_LANGUAGE_TEXT(es, "es"),         MYNAH_LANGUAGE_TEXT(es_cldr, "es.cldr"),
          MYNAH_LANGUAGE_TEXT(fr, "fr"),         MYNAH_LANGUAGE_TEXT(fr_cldr, "fr.cldr"),
          MYNAH_LANGUAGE_TEXT(fr_be, "fr-be"),   MYNAH_LANGUAGE_TEXT(fr_be_cldr, "fr-be.cldr"),
          MYNAH_LANGUAGE_TEXT(fr_ch, "fr-ch"),   MYNAH_LANGUAGE_TEXT(fr_ch_cldr, "fr-ch.cldr"),
          MYNAH_LANGUAGE_TEXT(hi, "hi"),         MYNAH_LANGUAGE_TEXT(hi_cldr, "hi.cldr"),
          MYNAH_LANGUAGE_TEXT(it, "it"),         MYNAH_LANGUAGE_TEXT(it_cldr, "it.cldr"),
          MYNAH_LANGUAGE_TEXT(nl, "nl"),         MYNAH_LANGUAGE_TEXT(nl_cldr, "nl.cldr"),
          MYNAH_LANGUAGE_TEXT(pl, "pl"),         MYNAH_LANGUAGE_TEXT(pl_cldr, "pl.cldr"),
          MYNAH_LANGUAGE_TEXT(pt, "pt"),         MYNAH_LANGUAGE_TEXT(pt_cldr, "pt.cldr"),
          MYNAH_LANGUAGE_TEXT(pt_pt, "pt-pt"),   MYNAH_LANGUAGE_TEXT(pt_pt_cldr, "pt-pt.cldr"),
          MYNAH_LANGUAGE_TEXT(ru, "ru"),         MYNAH_LANGUAGE_TEXT(ru_cldr, "ru.cldr"),
          MYNAH_LANGUAGE_TEXT(sv, "sv"),         MYNAH_LANGUAGE_TEXT(sv_cldr, "sv.cldr"),
          MYNAH_LANGUAGE_TEXT(tr, "tr"),         MYNAH_LANGUAGE_TEXT(tr_cldr, "tr.cldr"),
          MYNAH_LANGUAGE_TEXT(uk, "uk"),         MYNAH_LANGUAGE_TEXT(uk_cldr, "uk.cldr"),
          MYNAH_LANGUAGE_TEXT(es_419, "es-419"), MYNAH_LANGUAGE_TEXT(es_ar, "es-ar"),
          MYNAH_LANGUAGE_TEXT(de_ch, "de-ch"),   MYNAH_LANGUAGE_TEXT(es_mx, "es-mx"),
          MYNAH_LANGUAGE_TEXT(shared, "shared")};
}

}  // namespace

std::span<const LanguageFile> language_files() {
  static const auto files = embedded();
  return files;
}

}  // namespace mynah
