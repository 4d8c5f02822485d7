# Compiler flags, sanitizers, ccache and mold: everything that is about how we compile, nothing about what.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror)
add_compile_options(-fno-omit-frame-pointer)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(FAIRLEAD_SANITIZE "" CACHE STRING "Value of -fsanitize= (address,undefined or thread)")
if(FAIRLEAD_SANITIZE)
  add_compile_options(-fsanitize=${FAIRLEAD_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FAIRLEAD_SANITIZE})
endif()
