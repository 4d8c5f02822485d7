# A generated file that is committed must be what its program prints now.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FILE} committed)
if(NOT printed STREQUAL committed)
  message(FATAL_ERROR "${FILE} is out of date: run ./dev docs")
endif()
