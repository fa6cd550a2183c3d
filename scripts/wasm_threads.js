// How many processors the library finds: as many as its caller wants threads. The threads are
// started before the library is called (PTHREAD_POOL_SIZE).
mergeInto(LibraryManager.library, {
  emscripten_num_logical_cores: function() { return Module["threads"] || 1; },
});
