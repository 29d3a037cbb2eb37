# Fails where docs/configuration.md is not what the program prints.
execute_process(COMMAND "${MYNAH}" config --markdown OUTPUT_VARIABLE printed RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "mynah config --markdown ended with ${code}")
endif()
file(READ "${DOCUMENT}" written)
if(NOT printed STREQUAL written)
  message(FATAL_ERROR "${DOCUMENT} is stale: run 'mynah config --markdown > docs/configuration.md'")
endif()
