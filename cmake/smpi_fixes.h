// After the header that smpicxx includes everywhere: its macro for exit() would break every member function of that name.
#undef exit
